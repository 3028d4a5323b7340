"""Do the files of --watch show a run, also one that was interrupted and went on?"""

import importlib.util
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest
import xml.dom.minidom

from sluice_train import command, read_log, write_tokens

MODEL = "dense:layers=2,hidden=64,head_dim=32,vocabulary=256"
STEPS = 100


def read_numbers(data):
    """(field, value) of a message of protocol buffers; length-delimited values are bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        size = {1: 8, 5: 4}.get(key & 7)
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        size = varint() if size is None else size
        yield key >> 3, data[at : at + size]
        at += size


def scalars_of(folder):
    """{tag: {step: value}} of the event files, in their order."""
    found = {}
    for path in sorted(folder.glob("*tfevents*")):
        data, at = path.read_bytes(), 0
        while at < len(data):
            (length,) = struct.unpack_from("<Q", data, at)
            event = list(read_numbers(data[at + 12 : at + 12 + length]))
            at += length + 16
            step = dict(event).get(2, 0)
            for field, value in event:
                if field == 5:
                    for _, scalar in read_numbers(value):
                        parts = dict(read_numbers(scalar))
                        number = struct.unpack("<f", parts[2])[0]
                        found.setdefault(parts[1].decode(), {})[step] = number
    return found


def scalars_by_tensorboard(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    return {
        tag: {event.step: event.value for event in events.Scalars(tag)}
        for tag in events.Tags()["scalars"]
    }


class WatchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = write_tokens(self.folder / "data.bin", 20_000, 256)
        self.held_out = write_tokens(self.folder / "held-out.bin", 2_000, 256, seed=8)
        self.log = self.folder / "log.jsonl"

    def words(self, **options):
        usual = dict(model=MODEL, data=self.data, device="cpu", cpu_threads=1, batch=2, seq=32)
        usual |= dict(steps=STEPS, clipping="exact", log=self.log, out=self.folder / "out")
        return command(**{**usual, **options})

    def run_to_its_end(self, status, **options):
        done = subprocess.run(self.words(**options), capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def lines(self):
        return self.log.read_bytes().count(b"\n") if self.log.exists() else 0

    def interrupt(self, **options):
        """A run that a signal ended after its 70th step. One that ended by itself before the signal
        came, as on a busy machine, is done again."""
        status = 0
        while status == 0:
            for left in ("out", "watch"):
                shutil.rmtree(self.folder / left, ignore_errors=True)
            self.log.unlink(missing_ok=True)
            process = subprocess.Popen(self.words(**options), stdout=subprocess.DEVNULL)
            while self.lines() < 70 and process.poll() is None:
                time.sleep(0.002)
            process.send_signal(signal.SIGTERM)
            status = process.wait()
        self.assertEqual(status, 128 + signal.SIGTERM)

    def check_scalars(self, scalars):
        lines = read_log(self.log)
        self.assertEqual(list(scalars["loss/train"]), [line["step"] for line in lines])
        keys = {
            "loss/train": "loss",
            "loss/validation": "validation_loss",
            "optimizer/gradient_norm": "gradient_norm",
            "speed/tokens_per_s": "tokens_per_s",
        }
        for tag, key in keys.items():
            expected = {line["step"]: line[key] for line in lines if key in line}
            self.assertEqual(scalars[tag].keys(), expected.keys())
            for step, value in expected.items():
                self.assertAlmostEqual(scalars[tag][step], value, delta=1e-6 * abs(value))

    def test_page_and_events_show_a_run_that_went_on(self):
        watch = dict(watch=self.folder / "watch", validation=self.held_out, validate_every=30)
        self.interrupt(**watch)
        page = (self.folder / "watch/index.html").read_text()
        self.assertRegex(page, rf"<p>Interrupted after step \d+ of {STEPS}\.</p>")
        self.run_to_its_end(0, resume=True, **watch)
        page = (self.folder / "watch/index.html").read_text()
        xml.dom.minidom.parseString(re.sub("^<!DOCTYPE html>", "", page))
        self.assertIn(f"<p>Finished after step {STEPS} of {STEPS}.</p>", page)
        self.assertIn(f"out/step-{STEPS:08d}", page)
        self.assertIn("The newest measured step", page)
        # The line of the loss has the steps before the signal, too.
        lines = re.findall(r"<path d=\"([^\"]*)\"", page)
        self.assertGreaterEqual(max(len(re.findall(r"[ML]", line)) for line in lines), STEPS)
        self.check_scalars(scalars_of(self.folder / "watch"))

    @unittest.skipUnless(importlib.util.find_spec("tensorboard"), "tensorboard is not installed")
    def test_tensorboard_reads_a_run_that_went_on(self):
        self.interrupt(watch=self.folder / "watch", validation=self.held_out, validate_every=30)
        # As after a kill, some steps are done again.
        self.run_to_its_end(
            0, resume=True, watch=self.folder / "watch", validation=self.held_out, validate_every=30
        )
        self.check_scalars(scalars_by_tensorboard(self.folder / "watch"))


if __name__ == "__main__":
    unittest.main()
