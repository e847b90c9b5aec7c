#!/usr/bin/env python3
"""Records how TensorBoard's own writer puts events into a file, and what it reads out of ours.

    python record_events.py                 writes events.tfevents beside this script
    python record_events.py RUN             prints what TensorBoard finds in a run's folder

Needs tensorboard.
"""

import pathlib
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.record_writer import RecordWriter


def events():
    yield event_pb2.Event(wall_time=1.5, file_version="brain.Event:2")
    scalar = summary_pb2.Summary.Value(tag="loss/train", simple_value=0.125)
    yield event_pb2.Event(
        wall_time=2.5, step=7, summary=summary_pb2.Summary(value=[scalar]))
    histogram = summary_pb2.HistogramProto(
        min=-1, max=2, num=3, sum=1.5, sum_squares=5.25, bucket_limit=[-0.5, 0, 3],
        bucket=[1, 0, 2])
    picture = summary_pb2.Summary.Image(
        height=2, width=3, colorspace=3, encoded_image_string=b"picture")
    yield event_pb2.Event(wall_time=3.5, step=300, summary=summary_pb2.Summary(value=[
        summary_pb2.Summary.Value(tag="weights/w", histo=histogram),
        summary_pb2.Summary.Value(tag="samples/0", image=picture)]))
    yield event_pb2.Event(
        wall_time=4.5, step=301,
        session_log=event_pb2.SessionLog(status=event_pb2.SessionLog.START))


def record():
    path = pathlib.Path(__file__).with_name("events.tfevents")
    with open(path, "wb") as file:
        writer = RecordWriter(file)
        for event in events():
            writer.write(event.SerializeToString(deterministic=True))
        writer.flush()


def show(folder):
    accumulator = EventAccumulator(folder).Reload()
    tags = accumulator.Tags()
    for tag in tags["scalars"]:
        points = accumulator.Scalars(tag)
        print(f"{tag}: steps {[point.step for point in points]}, last {points[-1].value:.6g}")
    for tag in tags["images"]:
        picture = accumulator.Images(tag)[-1]
        print(f"{tag}: {picture.width}×{picture.height}, {len(picture.encoded_image_string)} bytes")
    print(f"{len(tags['histograms'])} histograms")


if __name__ == "__main__":
    show(sys.argv[1]) if len(sys.argv) > 1 else record()
