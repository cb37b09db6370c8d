# Completion of argus(1) for bash. The words come from the program's own help, so they are those
# of the version that is installed.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

_argus()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} argus=${COMP_WORDS[0]}
    local verbs="info bench models" verb= words=

    COMPREPLY=()
    case " $verbs " in *" ${COMP_WORDS[1]} "*) [ "$COMP_CWORD" -gt 1 ] && verb=${COMP_WORDS[1]} ;; esac
    # --opt=value is split at the = sign
    if [ "$cur" = "=" ]; then
        cur=
    elif [ "$prev" = "=" ]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case $prev in
        --split) words="on off" ;;
        --alpha) words="drop white black" ;;
        --sar) words="square ignore" ;;
        --format) words="srt vtt json jsonl txt ffmeta" ;;
        --precision) words="exact q8" ;;
        --cpumask) words="c avx2 avx512 neon all" ;;
        -m | --model | --fetch | --verify)
            words=$("$argus" models 2>/dev/null | awk 'NR > 1 { print $1 }')
            [ "$prev" = --fetch ] || COMPREPLY=($(compgen -d -- "$cur"))
            ;;
        -p | --prompt | --system | --seed | --stop | --choices) return ;;
    esac
    if [ -n "$words" ]; then
        COMPREPLY+=($(compgen -W "$words" -- "$cur"))
    elif [[ $cur == -* ]]; then
        words=$("$argus" $verb --help 2>/dev/null | sed -n 's/^ *\(-., \)\{0,1\}\(--[a-z0-9-]*\).*/\2/p')
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    else
        COMPREPLY=($(compgen -f -- "$cur"))
        [ "$COMP_CWORD" -gt 1 ] || COMPREPLY+=($(compgen -W "$verbs" -- "$cur"))
    fi
}

complete -o filenames -F _argus argus
