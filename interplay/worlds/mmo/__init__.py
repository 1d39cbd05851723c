"""The persistent world of many agents of Suarez et al. (2019): forage, fight, die, be replaced."""
