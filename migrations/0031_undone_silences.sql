-- What undoing the end of a silence puts back. Null unless a member or a command ended it.
alter table silence
  add column ended_at timestamptz,      -- when it was ended
  add column until_before timestamptz;  -- when it would have ended; null = it had no end
