-- Who has or had access stays known: accounts are made and kept, tokens are revoked and kept.
revoke update, delete on accounts from quittance_gateway;
revoke delete on tokens from quittance_gateway;
