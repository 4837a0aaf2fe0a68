"""The errors a user can cause: each prints as one line that says what, where, wanted, got and the cure."""


class ZxmlError(Exception):
    """Something the user can put right; the command line prints it on one line and exits with 1."""


class DataError(ZxmlError):
    """A data file is missing, truncated or altered."""


class SpecError(ZxmlError):
    """A spec or a model says something that cannot be meant."""


class DeviceError(ZxmlError):
    """OpenCL, or the device asked for, is not there."""


class PlanError(ZxmlError):
    """The net does not fit the machine."""


class VerifyError(ZxmlError):
    """The machine computed something else than the reference."""
