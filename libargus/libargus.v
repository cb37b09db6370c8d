ARGUS_0 {
    global: argus_*;
    local: *;
};
