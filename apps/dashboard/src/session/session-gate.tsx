import { Center, Loader } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { SignedIn } from '@quittance/client';
import { type ReactNode, useEffect, useState } from 'react';
import { actFor } from '../client.ts';
import { Failure } from '../parts/failure.tsx';
import { ME, queries } from '../queries.ts';
import { AcceptInvitation } from './accept-invitation.tsx';
import { tellOtherWindows, useOtherWindows } from './other-windows.ts';
import { SessionProvider, useSignedIn } from './session.ts';
import { SignIn } from './sign-in.tsx';
import { StepUpProvider } from './step-up.tsx';

const NOBODY = 'nobody';
const ownerOf = (session: SignedIn | null): string =>
  session === null ? NOBODY : `${session.id} ${session.account_id}`;

/** Shows the pages to who has signed in, and everybody else the sign-in. */
export function SessionGate({ children }: { children: ReactNode }) {
  const { data: session, error, refetch } = useSignedIn();
  const { isReady, hasEnded } = useOwner(session);
  useOtherWindows();
  const token = invitationToken();
  if (token !== undefined) return <AcceptInvitation token={token} session={session ?? undefined} />;
  if (session === undefined || !isReady)
    return (
      <Center mih="100vh">
        {error === null ? <Loader aria-label="Loading" /> : <Failure error={error} onRetry={refetch} />}
      </Center>
    );
  if (session === null) return <SignIn hasEnded={hasEnded} />;
  return (
    <SessionProvider value={session} key={ownerOf(session)}>
      <StepUpProvider>{children}</StepUpProvider>
    </SessionProvider>
  );
}

/**
 * Whose data is kept. Before a page is shown to another person, or for another account, what was read until then is dropped and
 * requests name the new account: the page is not ready before.
 */
function useOwner(session: SignedIn | null | undefined): { isReady: boolean; hasEnded: boolean } {
  const [owner, setOwner] = useState<string>();
  const [hasEnded, setEnded] = useState(false);
  const next = session === undefined ? undefined : ownerOf(session);
  useEffect(() => {
    if (session === undefined || next === undefined || next === owner) return;
    actFor(session?.account_id);
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== ME[0] });
    queries.getMutationCache().clear();
    notifications.clean();
    setEnded(session === null && owner !== undefined && owner !== NOBODY);
    if (session !== null && owner !== undefined && owner !== NOBODY) tellOfChange(session);
    if (owner !== undefined) tellOtherWindows();
    setOwner(next);
  }, [session, next, owner]);
  return { isReady: next !== undefined && next === owner, hasEnded };
}

function tellOfChange({ accounts, account_id: id, name }: SignedIn): void {
  const account = accounts.find((one) => one.id === id)?.name ?? id;
  notifications.show({ message: `This window now shows ${account}, for ${name}.`, autoClose: 10_000 });
}

/** Behind `#`, which browsers send to no server. */
const invitationToken = (): string | undefined => /^#invitation=([\w-]+)$/.exec(window.location.hash)?.[1];
