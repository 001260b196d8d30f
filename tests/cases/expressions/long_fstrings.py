# depyf-case: versions 3.9-3.10
def reported(template, profile, name):
    text = (f"line {name}\n"
            f"a second line {profile} that goes on for some time\n"
            f"a third line {name.index['c']} which is long as well {{braces}}\n"
            "a fourth")
    if not text:
        raise ValueError(f"Unsupported version, the supported version must be {template}, but the "
                         f"version of the configuration of {profile} is {name!r:>{template}}")
    return (f"Tracker(remote_no_context_takeover={name.remote_no_context_takeover}, "
            f"local_no_context_takeover={name.local!r:>{template}})")
