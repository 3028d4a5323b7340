"""Do several processes give what one gives, in its order, and are lengths shown as they are?"""

import json
import os
import signal
import unittest

from chat_data import ChatTest, chat, prepare_data

from bad_input import BadInput
from jobs import ITEMS_AT_ONCE, in_order
from lengths import histogram, lengths_words

MANY = 10 * ITEMS_AT_ONCE + 3


def broken_after(items, error):
    yield from items
    raise error


class JobsTest(unittest.TestCase):
    def test_results_come_in_order_from_other_processes(self):
        for count in (0, 1, ITEMS_AT_ONCE - 1, ITEMS_AT_ONCE, MANY):
            for jobs in (1, 2, 5):
                with self.subTest(count=count, jobs=jobs):
                    done = list(in_order(lambda i: (i * i, os.getpid()), range(count), jobs))
                    self.assertEqual([square for square, _ in done], [i * i for i in range(count)])
                    apart = jobs > 1 and count >= ITEMS_AT_ONCE
                    self.assertEqual(os.getpid() not in {at for _, at in done}, apart or not done)

    def test_an_error_of_the_input_comes_after_what_was_before_it(self):
        for count in (3, MANY):
            found = []
            with self.assertRaisesRegex(BadInput, "damaged"):
                for one in in_order(abs, broken_after(range(count), BadInput("damaged")), 3):
                    found.append(one)
            self.assertEqual(found, list(range(count)))

    def test_only_so_much_is_read_ahead(self):
        read = []

        def items():
            for i in range(100 * ITEMS_AT_ONCE):
                read.append(i)
                yield i

        results = in_order(abs, items(), 2)
        next(results)
        self.assertLess(len(read), 10 * ITEMS_AT_ONCE)
        results.close()

    def test_a_process_that_the_system_ends_is_told(self):
        def end_at_100(i):
            if i == 100:
                os.kill(os.getpid(), signal.SIGKILL)
            return i

        with self.assertRaisesRegex(BadInput, "give fewer --jobs"):
            list(in_order(end_at_100, range(MANY), 2))

    def test_errors_of_the_work_are_passed_on(self):
        def fail(i):
            raise MemoryError

        with self.assertRaises(MemoryError):
            list(in_order(fail, range(MANY), 2))


class PreparedByManyTest(ChatTest):
    def test_files_do_not_depend_on_the_jobs(self):
        chats = self.folder / "many.jsonl"
        records = [{"messages": chat(i)} for i in range(300)]
        records[200] = {"messages": [{"role": "user", "content": "no answer"}]}
        chats.write_text("".join(json.dumps(one) + "\n" for one in records))
        made = []
        for jobs in (1, 3):
            out = self.prepared(
                chats, "--jobs", jobs, "--skip-bad", 1, "--held-out", "0.1", "--seq", 64
            )
            made.append([path.read_bytes() for path in sorted(out.parent.glob(f"{out.stem}*"))])
        self.assertEqual(len(made[0]), 6)
        self.assertEqual(made[0], made[1])
        with self.assertRaisesRegex(BadInput, "line 201: no message is the assistant's"):
            self.prepared(chats, "--jobs", 3)

    def test_the_number_of_jobs_is_checked(self):
        for wrong in ("0", "-1", "two", "1.5"):
            with self.subTest(wrong), self.assertRaises(SystemExit):
                prepare_data.arguments(["f", "--model", "m", "--out", "o.bin", "--jobs", wrong])


class LengthsTest(unittest.TestCase):
    def test_numbers_and_rows(self):
        lengths = [3, 4, 5, 8, 9, 16, 16, 33]
        self.assertEqual(
            lengths_words(lengths, 20),
            [
                "a document has 8 tokens in the median, 33 at 90%, 33 at most; 1 of 8 have more "
                "than a sequence of 20",
                "  up to  4 tokens  2  ###########################",
                "  up to  8 tokens  2  ###########################",
                "  up to 16 tokens  3  ########################################",
                "  up to 32 tokens  0",
                "  up to 64 tokens  1  #############",
            ],
        )

    def test_each_document_counts_once(self):
        for lengths in ([1], [7] * 5, list(range(1, 5000)), [1, 2**20]):
            rows = histogram(sorted(lengths))
            counted = [int(row.split()[4].replace(",", "")) for row in rows]
            self.assertLessEqual(len(rows), 10)
            self.assertEqual(sum(counted), len(lengths) if rows else 0)


if __name__ == "__main__":
    unittest.main()
