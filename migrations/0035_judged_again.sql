-- Invitations and recipients keep who made them, to judge them again when they are used.

-- The member who invited them, or who last set their roles or address before they joined; null = the operator.
alter table member add column invited_by bigint;

update member m
   set invited_by = (select k.created_by
                       from link k
                      where k.account_id = m.account_id and k.member_id = m.member_id and k.purpose = 'invitation'
                      order by k.created_at desc
                      limit 1)
 where m.login_id is null
   and exists (select from link k where k.account_id = m.account_id and k.member_id = m.member_id);

-- The member who made this address a recipient, or asked it last to confirm; null = the operator.
alter table destination_recipient add column asked_by bigint;

-- Ends the links of a member at once when they may make none any more.
create index link_maker on link (account_id, created_by) where used_at is null and created_by is not null;
