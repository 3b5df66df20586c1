"""What starts runs by itself: the clock, requests from outside, and the ends of other runs."""
