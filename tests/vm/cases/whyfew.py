# SPDX-License-Identifier: GPL-2.0-only
"""Some of the waits of `why`."""

from why import judge  # pylint: disable=unused-import
