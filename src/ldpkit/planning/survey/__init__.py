"""Surveys before they are made: split the budget over all questions, or ask each person a few of them."""
