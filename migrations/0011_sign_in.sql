-- A login with a password acts in one account; a person of single sign-on accepts each account's invitation.
-- Takes 43 µs a row of login.

-- Null: a person of an identity provider, who may act in several accounts. Any other login is its account's alone, because
-- nobody proved its e-mail address. No foreign key, for this table is spread by no account.
alter table login add column account_id bigint;
drop index login_email;
update login l
   set account_id = m.account_id
  from (select login_id, min(account_id) as account_id from member where login_id is not null group by login_id) m
 where m.login_id = l.login_id
   and l.oidc_issuer is null;
-- Their members were removed: they could act nowhere.
delete from login where oidc_issuer is null and account_id is null;
-- Who acted in several accounts by one password has a login in each now, with the same password and the sessions there.
do $$
declare
  other record;
  own bigint;
begin
  for other in
    select m.account_id, m.member_id, l.login_id, l.email, l.name, l.password, l.created_at
      from member m
      join login l on l.login_id = m.login_id
     where l.account_id <> m.account_id
     order by m.account_id, m.member_id
  loop
    insert into login (account_id, email, name, password, created_at)
    values (other.account_id, other.email, other.name, other.password, other.created_at)
    returning login_id into own;
    update session set login_id = own where login_id = other.login_id and account_id = other.account_id;
    update member set login_id = own where account_id = other.account_id and member_id = other.member_id;
  end loop;
end $$;
update login set password = null where oidc_issuer is not null and password is not null;
alter table login
  add constraint login_of_account_or_provider check ((account_id is null) = (oidc_issuer is not null)),
  add constraint login_password_of_account check (password is null or account_id is not null);

-- Addresses are compared with ASCII letters folded and all others exact: lower() alone takes U+212A for a k.
create index login_email on login (lower(email collate "C"));
drop index member_unjoined;
create index member_address on member (lower(email collate "C"));

-- When the person last proved who they are, and the address that the identity provider verified then. A person who has
-- accepted no invitation acts in no account.
alter table session
  alter column account_id drop not null,
  add column proved_at timestamptz,
  add column proved_email text;
update session set proved_at = created_at;
alter table session
  alter column proved_at set not null,
  alter column proved_at set default clock_timestamp();

-- SHA-256 of the known device that the attempt came from; null = an unknown one.
alter table sign_in_failure add column device bytea;
create index sign_in_failure_device on sign_in_failure (device, at) where device is not null;

grant delete on login to dbvitals_writer;
grant update (token_hash, proved_at) on session to dbvitals_writer;
grant select (account_id) on login to dbvitals_console;
grant select (proved_at, proved_email) on session to dbvitals_console;
