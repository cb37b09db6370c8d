# The conversations of make_prompt_refs.py.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""Names that begin with p4, p11 or p12 are reported cases of that number.

argus-tiny knows shapes, colours, test patterns and a few questions; formula pictures of small size
look to it like drawn scenes, so its answers are varied sentences (true or not is of no matter).
"""
from hf import Case

WIDE, PANO, TALL = (1920, 1080), (1000, 333), (300, 900)
SENTENCE = "Describe this image in one sentence."
RING = "A purple ring left of a blue triangle on a striped background."
CIRCLES = "It is a test picture with 12 circles."


def pic(size, scene, time=0):
    return (*size, scene, time)


def user(*content):
    return "user", list(content)


def system(text):
    return "system", [text]


def assistant(text):
    return "assistant", [text]


def one_tile(name, *messages, **kw):
    return Case(name, list(messages), split=False, **kw)


def tiles(name, *messages, **kw):
    return Case(name, list(messages), **kw)


ARGUS_TINY = [
    # order of the parts
    tiles("two_pictures_text_between",
          user(pic((96, 72), 7), " then ", pic((160, 90), 11), " What happens?")),
    one_tile("two_pictures_text_between_unsplit",
             user(pic((64, 64), 37), " then ", pic((320, 240), 1), " What happens?")),
    tiles("text_first", user("What do you see? ", pic((160, 90), 13))),
    one_tile("text_first_unsplit", user("What shape is this?", pic((64, 64), 16))),
    tiles("text_around", user("Look at this: ", pic((90, 160), 14), " Read the text.")),
    one_tile("text_around_two", user("First ", pic((96, 72), 10), ", second ", pic((96, 72), 15),
                                     ". " + SENTENCE)),
    one_tile("window_text_first",
             user("What happens in this video? ", *[pic((96, 72), 5, t) for t in range(3)])),
    tiles("text_in_two_parts", user("What color ", "is the sky?")),
    tiles("text_only", user("Who are you?")),
    # plain captioning
    tiles("plain_caption", user(pic((64, 64), 16))),
    one_tile("plain_caption_unsplit", user(pic((320, 240), 0))),
    one_tile("plain_window", user(*[pic((320, 240), 7, t) for t in range(4)])),
    # turns
    tiles("system_user", system("You describe pictures in one sentence."),
          user(pic((320, 240), 0), "What do you see?")),
    one_tile("system_user_text_first", system("Answer in one word."),
             user(SENTENCE + " ", pic((96, 72), 27))),
    tiles("multi_turn", user(pic((320, 240), 0), SENTENCE), assistant(RING),
          user("What is written in this image?")),
    one_tile("multi_turn_three", user(pic((90, 160), 15), "Is there a star?"), assistant("Yes."),
             user("What shape is this?"), assistant("Two."), user("What is in this image?")),
    tiles("multi_turn_second_picture", system("You describe pictures in one sentence."),
          user(pic((320, 240), 0), SENTENCE), assistant(RING),
          user(pic((320, 240), 7), "What is written in this image?")),
    tiles("multi_turn_text", user("Who are you?"), assistant("Blue."), user("Count to five.")),
    tiles("system_only", system("You are argus-tiny.")),
    tiles("system_text_only", system("You are argus-tiny."), user("Who are you?")),
    # sizes
    tiles("p12_two_grids", user(pic(WIDE, 1), pic(PANO, 2), "Describe this image.")),
    tiles("p12_three_grids", user(pic(WIDE, 18), pic(PANO, 19), " then ", pic(TALL, 20), SENTENCE)),
    one_tile("p12_three_grids_unsplit",
             user(pic(WIDE, 15), pic(PANO, 16), pic(TALL, 17), "What happens?")),
    tiles("p4_386x386", user(pic((386, 386), 0), SENTENCE)),
    one_tile("p11_386x386", user(pic((386, 386), 0), SENTENCE)),
    one_tile("p11_512x512", user(pic((512, 512), 11), "Read the text.")),
    one_tile("p11_300x200", user(pic((300, 200), 24), "Read the text.")),
    # decoding
    tiles("penalty_1.3", user(pic((320, 240), 0), SENTENCE), repetition_penalty=1.3),
    one_tile("penalty_1.3_two", user(pic((64, 64), 36), pic((320, 240), 3), "Describe this image."),
             repetition_penalty=1.3),
    tiles("penalty_1.3_turns", system("You describe pictures in one sentence."),
          user(pic((90, 160), 15), SENTENCE), assistant(RING),
          user("What is written in this image?"), repetition_penalty=1.3),
    tiles("penalty_1.3_text", user("Count to five.\nWho are you?"), repetition_penalty=1.3),
    tiles("penalty_1.1", user(pic((96, 72), 7), "What is in this image?"), repetition_penalty=1.1),
    tiles("penalty_1.1_turns", system("Answer in one word."),
          user(pic((96, 72), 27), "What is in this image?"),
          assistant("A red star above a white circle on a checkered background."),
          user("Describe this image."), repetition_penalty=1.1),
    tiles("penalty_1.1_text", user("You are argus-tiny. Count to five."), repetition_penalty=1.1),
    tiles("length_1", user(pic((160, 90), 11), "Describe this image."), max_new_tokens=1),
    one_tile("length_5", user(pic((90, 160), 13), "What do you see?"), max_new_tokens=5),
    tiles("length_32", user("Count to five.\nWho are you?")),
]

SYNTH_TINY = [
    # order of the parts
    tiles("two_pictures_text_between",
          user(pic((640, 480), 20), " and then ", pic((200, 600), 30), " Tell me more.")),
    one_tile("two_pictures_text_between_unsplit",
             user(pic((640, 480), 21), "\n", pic((200, 600), 31), " Describe it.")),
    tiles("text_first", user("Explain this to me. ", pic((320, 240), 24))),
    one_tile("text_first_unsplit", user("Describe it.", pic((320, 240), 23))),
    one_tile("text_around_two", user("First ", pic((96, 72), 25), ", second ", pic((72, 96), 26),
                                     ". What is this?")),
    one_tile("window_text_first",
             user("Explain this to me. ", *[pic((160, 120), 28, t) for t in range(3)])),
    tiles("text_in_two_parts", user("What color ", "is the sky? Describe it.")),
    # plain captioning
    tiles("plain_caption", user(pic((500, 400), 26))),
    one_tile("plain_caption_unsplit", user(pic((500, 400), 27))),
    one_tile("plain_window", user(*[pic((320, 240), 31, t) for t in range(4)])),
    # turns
    tiles("system_user", system("You are a helpful assistant."),
          user(pic((320, 240), 28), "Tell me more.")),
    one_tile("system_user_text_first", system("Be brief."),
             user("Explain this to me. ", pic((320, 240), 31))),
    tiles("multi_turn", user(pic((320, 240), 31), "What is this?"), assistant(CIRCLES),
          user("Are you sure?")),
    one_tile("multi_turn_three", user(pic((320, 240), 30), "Describe it."), assistant(CIRCLES),
             user("Are you sure?"), assistant("Yes."), user("What is this?")),
    tiles("multi_turn_second_picture", system("Be brief."),
          user(pic((320, 240), 29), "Tell me more."), assistant(CIRCLES),
          user(pic((100, 300), 30), "And this?")),
    tiles("multi_turn_text", user("Hello."), assistant("Hello! How can I help?"),
          user("Tell me more.")),
    tiles("system_only", system("Be brief.")),
    tiles("system_text_only", system("Answer in one word."), user("Describe it.")),
    # sizes
    tiles("p12_two_grids", user(pic(WIDE, 2), pic(PANO, 3), "Describe it.")),
    tiles("p12_three_grids",
          user(pic(WIDE, 1), pic(PANO, 2), " and ", pic(TALL, 3), "Tell me more.")),
    one_tile("p12_three_grids_unsplit",
             user(pic(WIDE, 3), pic(PANO, 4), pic(TALL, 5), "What is this?")),
    tiles("p4_386x386", user(pic((386, 386), 4), "Tell me more.")),
    one_tile("p11_386x386", user(pic((386, 386), 6), "What is this?")),
    one_tile("p11_512x512", user(pic((512, 512), 6), "Describe it.")),
    one_tile("p11_300x200", user(pic((300, 200), 7), "Describe it.")),
    # decoding
    tiles("penalty_1.3", user(pic((200, 160), 10), "Explain this to me."), repetition_penalty=1.3),
    one_tile("penalty_1.3_text_first", user("Describe it.", pic((320, 240), 23)),
             repetition_penalty=1.3),
    tiles("penalty_1.3_text", user("Count to five.\nWhat is this? Be brief."),
          repetition_penalty=1.3),
    tiles("penalty_1.1_turns", system("Be brief."), user(pic((320, 240), 29), "Tell me more."),
          assistant(CIRCLES), user("Are you sure?"), repetition_penalty=1.1),
    tiles("length_1", user(pic((320, 240), 10), "Tell me more."), max_new_tokens=1),
    one_tile("length_5", user(pic((320, 240), 10), "Tell me more."), max_new_tokens=5),
]

SHIFTED_ARGUS_TINY = [
    tiles("shifted_split", user(pic((320, 240), 0), SENTENCE)),
    one_tile("shifted_unsplit", user(pic((90, 160), 15), SENTENCE)),
    one_tile("shifted_window",
             user(*[pic((96, 72), 5, t) for t in range(3)], "What happens in this video?")),
]
