"""Instruments for talk in werewolf: they read its boards and record the beliefs of its players."""
