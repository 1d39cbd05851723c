"""Instruments for talk in werewolf: its boards and the beliefs of its players."""
