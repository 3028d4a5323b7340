"""Token shards of Python sources, for the comparison of FP8 with bf16.

    python3 corpus.py OUT_FOLDER SOURCE_FOLDER...

Needs numpy and tokenizers. Writes tokenizer.json (byte-level BPE, 8,192 tokens, trained on a sixth of the files), held.bin (one
file in 50) and train.bin: little-endian uint16 ids, token 0 after each file. Equal files count once.
"""

import hashlib
import random
import sys
from pathlib import Path

import numpy
from tokenizers import Tokenizer, models, pre_tokenizers, trainers


def sources(folders):
    seen = set()
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.py")):
            if not path.is_file() or not 500 < path.stat().st_size < 400_000:
                continue
            content = path.read_bytes()
            digest = hashlib.sha1(content).digest()
            if digest in seen:
                continue
            seen.add(digest)
            try:
                yield content.decode()
            except UnicodeDecodeError:
                continue


def write(path, tokenizer, files):
    ids = []
    for begin in range(0, len(files), 500):
        for encoding in tokenizer.encode_batch(files[begin:begin + 500]):
            ids.extend(encoding.ids)
            ids.append(0)
    numpy.array(ids, dtype="<u2").tofile(path)
    print(path, len(ids), "tokens")


def main(out, *folders):
    files = list(sources(folders))
    random.Random(1).shuffle(files)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(
        files[:len(files) // 6],
        trainers.BpeTrainer(vocab_size=8192, special_tokens=["<end>"],
                            initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.save(f"{out}/tokenizer.json")
    held = len(files) // 50
    write(f"{out}/held.bin", tokenizer, files[:held])
    write(f"{out}/train.bin", tokenizer, files[held:])


main(*sys.argv[1:])
