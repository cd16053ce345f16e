"""Runs an ONNX model on ready token ids and prints texts per CPU second.

Reads {"model": path, "ids": [[int]], "seconds": float} from standard input.
The session has the options of the language server's: one thread, no spinning.
"""
import json
import sys
import time

import numpy
import onnxruntime

job = json.load(sys.stdin)
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.inter_op_num_threads = 1
options.enable_mem_pattern = False
options.log_severity_level = 4
options.add_session_config_entry("session.intra_op.allow_spinning", "0")
options.add_session_config_entry("session.inter_op.allow_spinning", "0")
session = onnxruntime.InferenceSession(job["model"], options, providers=["CPUExecutionProvider"])
ready = [
    {"input_ids": numpy.array([ids], dtype=numpy.int32), "attention_mask": numpy.ones((1, len(ids)), dtype=numpy.int32)}
    for ids in job["ids"]
]
session.run(None, ready[0])
began, cpu, count = time.monotonic(), time.process_time(), 0
while time.monotonic() - began < job["seconds"]:
    session.run(None, ready[count % len(ready)])
    count += 1
print(json.dumps(count / (time.process_time() - cpu)))
