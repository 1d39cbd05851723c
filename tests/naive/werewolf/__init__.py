"""The werewolf game once more: slow, obvious, one game, plain Python. The twin that the fast world must equal.

Readings where the rule book leaves freedom, or where this twin follows the fast world:

* who has nobody to use an ability on sleeps: a seer that knows everybody, a witch without a potion for tonight;
* seers, guards, witches and dying hunters act without words, for nobody would hear them: symbol 0 alone is legal;
* of several names of a seer, a guard, a witch or a hunter the first counts; each illegal one is replaced and counted;
* potions and shots write no board, so "the last phase's board" stays the one before them;
* whom potions or shots kill is neither "last eaten" nor "last executed";
* by `max_days` everybody is cut who is there then; with `end_with_bootstrap` the last vote's victim ends with its death;
* an execution that chooses nobody makes "last executed" nobody; so does a quiet night for "last eaten";
* an execution needs its quota before anything is said of a tie: a shared top below it is no revote;
* `tie_rate`, `margin` and `vote_entropy` are of every count, one that leads to a revote or chooses nobody included; `tie_rate`
  counts those that a draw decided;
* `accord`, `suicide`, `day_drift`, `bussing` and the charges are of the vote that concludes; what compares a vote with talk is
  of the vote that follows the talk at once, as both stand on their boards (a pass and a hidden name are no names);
* `repetition_distance` compares how many names stood there before; `set_difference` is the names that only one of two rows has
  over the names of both;
* `follow` counts, for everybody who switched to a name and for everybody else, whether the other voted for that name.
"""
