"""Files that are written whole or not at all."""
import os
import shutil
import threading


def write(path, data: bytes) -> None:
    """Writes the file by way of another one beside it, which then takes its name.

    A link stays a link, permissions stay what they were, and what is no file (a pipe, a device) is
    written to as it is.
    """
    target = os.path.realpath(os.fsdecode(path))
    if not os.fspath(path):
        raise ValueError("the path of the file is empty")
    exists = os.path.exists(target)
    if exists and not os.path.isfile(target):
        with open(target, "wb") as f:
            f.write(data)
        return
    partial = f"{target}.{os.getpid()}.{threading.get_ident()}.partial"
    try:
        with open(partial, "xb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        if exists:
            shutil.copymode(target, partial)
        os.replace(partial, target)
    except BaseException:
        if os.path.exists(partial):
            os.unlink(partial)
        raise
