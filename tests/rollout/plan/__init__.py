"""Tests of sealed plans: what they hold, and that nothing may move between a plan and its rollout."""
