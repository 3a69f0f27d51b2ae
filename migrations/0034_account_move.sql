-- Accounts can move to another cell (docs/decisions/0109-moving-an-account.md).

-- An account that moves: a row in the cell that it leaves, until the copy there is forgotten, and one in the cell that it moves to,
-- until it lives there. Background work starts nothing for such an account, except while it is only being copied. No foreign key, because
-- the row is there before the copy.
create table account_move (
  account_id  bigint primary key,
  move_id     uuid not null,               -- the same in both cells
  other_cell  smallint not null check (other_cell between 1 and 255),
  state       text not null check (state in ('copying', 'draining', 'moving', 'moved', 'arriving', 'arrived')),
  since       xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),  -- transactions from it on may have changed rows since they were copied
  started_at  timestamptz not null default clock_timestamp(),
  -- The account's rows of activity_head and key_window while neither cell has them: only the cell that has them admits requests.
  head        jsonb,
  windows     jsonb
);

alter table account_move enable row level security;
alter table account_move force row level security;
do $$
begin
  execute 'create policy service on account_move to dbvitals_writer, current_role using (true) with check (true)';
end $$;
grant select on account_move to dbvitals_writer;
