import { Center, Loader } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Failure } from '../parts/failure.tsx';
import { ME } from '../queries.ts';
import { AcceptInvitation } from './accept-invitation.tsx';
import { SessionProvider, useSignedIn } from './session.ts';
import { SignIn } from './sign-in.tsx';
import { StepUpProvider } from './step-up.tsx';

/** Shows the pages to who has signed in, and everybody else the sign-in. */
export function SessionGate({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const { data: session, error, refetch } = useSignedIn();
  const shownFor = useRef<string>(undefined);
  const [hasEnded, setEnded] = useState(false);
  const token = invitationToken();

  // What is kept was read for another person or account: none of it is shown to this one.
  const owner = session === undefined || session === null ? undefined : `${session.id} ${session.account_id}`;
  useEffect(() => {
    if (session === undefined) return;
    if (shownFor.current !== undefined && shownFor.current !== owner) {
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== ME[0] });
      if (owner === undefined) setEnded(true);
    }
    shownFor.current = owner;
  }, [session, owner, client]);

  if (token !== undefined) return <AcceptInvitation token={token} session={session ?? undefined} />;
  if (session === undefined)
    return (
      <Center mih="100vh">
        {error === null ? <Loader aria-label="Loading" /> : <Failure error={error} onRetry={refetch} />}
      </Center>
    );
  if (session === null) return <SignIn hasEnded={hasEnded} onSignedIn={() => setEnded(false)} />;
  return (
    <SessionProvider value={session} key={owner}>
      <StepUpProvider>{children}</StepUpProvider>
    </SessionProvider>
  );
}

/** Behind `#`, which browsers send to no server. */
const invitationToken = (): string | undefined => /^#invitation=([\w-]+)$/.exec(window.location.hash)?.[1];
