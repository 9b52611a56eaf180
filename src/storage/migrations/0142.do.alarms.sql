-- Whose account is looked at next for what needs a person.
create table alarm_accounts (
  account_id uuid primary key references accounts on delete cascade,
  -- Of one that a node is at work on, too: what a node that dies has begun is due again.
  look_at timestamptz not null,
  looked_by uuid
) with (fillfactor = 70);
create index alarm_accounts_due on alarm_accounts (look_at);

-- What needs a person, from when it was found until it was found no more. Ids of one account are given in order.
create table alarms (
  id bigint generated always as identity primary key,
  account_id uuid not null references accounts on delete cascade,
  -- The same as long as it is the same trouble.
  key text not null,
  kind text not null,
  is_urgent boolean not null,
  -- As JSON: what is known of it.
  item text not null,
  since timestamptz not null,
  ended_at timestamptz
);
create unique index alarms_open on alarms (account_id, key) where ended_at is null;
create index alarms_ended on alarms (ended_at) where ended_at is not null;

-- How an account is told of it by mail.
create table alarm_settings (
  account_id uuid primary key references accounts on delete cascade,
  is_on boolean not null,
  kinds text[] not null,
  language text not null,
  -- All null = no quiet hours.
  quiet_from text,
  quiet_to text,
  quiet_zone text,
  urgent_breaks_quiet boolean not null,
  -- Mails that were sent because somebody asked, since that time.
  asked integer not null default 0,
  asked_since timestamptz not null default now()
);

-- Whom, and the next mail to each: what is known of it stands in alarms, from `told` on.
create table alarm_recipients (
  account_id uuid not null references accounts on delete cascade,
  address text not null,
  confirmed_at timestamptz,
  code_hash bytea,
  code_expires_at timestamptz,
  code_tries integer not null default 0,
  -- The last alarm that a mail has told of.
  told bigint not null default 0,
  sent_at timestamptz,
  not_before timestamptz not null default now(),
  quiet_until timestamptz,
  -- Of tries since the last mail that was taken.
  attempts integer not null default 0,
  failing_since timestamptz,
  error text,
  claimed_by uuid,
  claimed_until timestamptz,
  primary key (account_id, address)
) with (fillfactor = 70);
create index alarm_recipients_due on alarm_recipients (not_before) where confirmed_at is not null;
