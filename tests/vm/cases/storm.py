# SPDX-License-Identifier: GPL-2.0-only
"""Endings at random moments: judged like those that are planned."""

from endings import judge  # pylint: disable=unused-import
