"""The modules of the standard library that the round-trip tests decompile: large and small, in old and new styles."""

MODULES = """abc argparse ast asyncio.base_events asyncio.tasks base64 bdb bisect calendar cmd codecs collections configparser
    contextlib copy csv dataclasses datetime decimal difflib dis doctest email.message enum fractions functools gzip heapq
    http.client imaplib importlib._bootstrap inspect ipaddress json.decoder locale logging mailbox mimetypes optparse os
    pathlib pdb pickle platform plistlib pprint pydoc random re._parser shutil smtplib socket statistics string subprocess
    tarfile tempfile textwrap threading tokenize traceback turtle typing unittest.mock urllib.request uuid warnings
    weakref xml.dom.minidom zipfile""".split()
