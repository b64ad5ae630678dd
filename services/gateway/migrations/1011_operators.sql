-- People who operate the installation, and see and do in the dashboard what operators may.
create table operators (
  person_id text collate "C" primary key constraint operators_person_exists references people (id) on delete cascade,
  granted_at timestamptz(3) not null default now()
);

-- Whoever takes the gateway over makes nobody an operator: see packages/shared/operator.sql.
revoke insert, update, delete on operators from quittance_gateway;
