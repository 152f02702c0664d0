# SPDX-License-Identifier: GPL-2.0-only
"""The waits of `why`, ten of each."""

from why import judge  # pylint: disable=unused-import
