# SPDX-License-Identifier: GPL-2.0-only
"""The same as `whynone`, for longer."""

from whynone import judge  # pylint: disable=unused-import
