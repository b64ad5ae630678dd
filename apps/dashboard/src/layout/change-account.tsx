import { Modal, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { unboundClient } from '../client.ts';
import { passkeyAssertion } from '../session/passkey-browser.ts';
import { ProofForm } from '../session/proof-form.tsx';
import { useSession } from '../session/session.ts';

export type OtherAccount = { id: string; name: string };

type Props = { wanted: OtherAccount | undefined; onClose(): void };

/** A session is of one account: for another one the person signs in again. */
export const ChangeAccount = ({ wanted, onClose }: Props) => (
  <Modal opened={wanted !== undefined} onClose={onClose} title={`Change to ${wanted?.name ?? ''}`}>
    {wanted !== undefined && <SignInFor account={wanted} onClose={onClose} />}
  </Modal>
);

function SignInFor({ account, onClose }: { account: OtherAccount; onClose(): void }) {
  const navigate = useNavigate();
  const { email } = useSession();
  const chosen = { account_id: account.id };
  return (
    <Stack>
      <Text size="sm">
        Sign in for {account.name}. All windows of this browser then show it. What you have typed into a form
        and not sent is lost.
      </Text>
      <ProofForm
        byPassword={(proof) => unboundClient.sessions.signIn({ email, ...proof, ...chosen })}
        byPasskey={async () =>
          unboundClient.sessions.signInWithPasskey({
            credential: await passkeyAssertion(await unboundClient.sessions.passkeyOptions()),
            ...chosen,
          })
        }
        onProof={() => {
          onClose();
          // The page that is open is of the account before.
          void navigate({ to: '/' });
        }}
      />
    </Stack>
  );
}
