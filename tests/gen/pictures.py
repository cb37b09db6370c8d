"""What Pillow makes of the test pictures: pictures.py DIR > tests/refs/pictures.txt

DIR is filled by mkpictures. A line holds name, sha256 of the file (another
encoder may write other bytes), size, and sha256 of the RGB pixels, which are
taken as transformers' load_image takes them; or the word "error".

Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""
import hashlib
import os
import sys
import warnings

import PIL
from PIL import Image, ImageOps, features


def load(path):
    image = Image.open(path)
    return ImageOps.exif_transpose(image).convert("RGB")


def main():
    warnings.simplefilter("ignore")
    print("# Pillow", PIL.__version__, "with libjpeg-turbo", features.version("libjpeg_turbo"))
    for name in sorted(os.listdir(sys.argv[1])):
        path = os.path.join(sys.argv[1], name)
        with open(path, "rb") as f:
            file_hash = hashlib.sha256(f.read()).hexdigest()
        try:
            image = load(path)
        except Exception as e:
            print(f"{name}: {type(e).__name__}: {e}", file=sys.stderr)
            print(name, file_hash, "error")
            continue
        print(name, file_hash, f"{image.width}x{image.height}", hashlib.sha256(image.tobytes()).hexdigest())


main()
