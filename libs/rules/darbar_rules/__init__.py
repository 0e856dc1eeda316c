"""The rules of Darbar's card games: pure, without a clock, dice or I/O."""
