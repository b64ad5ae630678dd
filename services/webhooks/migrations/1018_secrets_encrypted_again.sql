-- While WEBHOOK_SECRETS_KEY is being changed, the service encrypts the same secrets with the new key. The role could add other
-- secrets of its choice before, and sign with them.
grant update (encrypted_secret) on endpoint_secrets to quittance_webhooks;
