import { Alert, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Failure } from './failure.tsx';
import { isOutcomeUnknown, isRefused, type Sent, toSend } from './outcome.ts';
import { PageLink } from './page.tsx';

/**
 * Sends what must not happen twice. The same request keeps its Idempotency-Key until it is answered, so it may be sent again when
 * the answer was lost: `isUnknown` says so, until it is answered. Nothing else is sent before: a form is not changed until then.
 * @param send makes one attempt (`maxRetries: 0`), so that its error says what became of that one
 */
export function useSendOnce<Request, Answer>(
  send: (request: Request, idempotencyKey: string) => Promise<Answer>,
  onSuccess: (answer: Answer) => unknown,
) {
  const last = useRef<Sent<Request>>(undefined);
  const [isUnknown, setUnknown] = useState(false);
  const { mutate, reset, isPending, error } = useMutation({
    mutationFn: async (input: Request) => {
      last.current = toSend(last.current, isUnknown, input, () => crypto.randomUUID());
      try {
        return await send(last.current.request, last.current.key);
      } catch (failure) {
        if (isOutcomeUnknown(failure)) setUnknown(true);
        if (isRefused(failure)) {
          last.current = undefined;
          setUnknown(false);
        }
        throw failure;
      }
    },
    onSuccess: (answer) => {
      last.current = undefined;
      setUnknown(false);
      return onSuccess(answer);
    },
  });
  return {
    send: mutate,
    isPending,
    error,
    isUnknown,
    /** Takes the error away when another request is prepared; not while it is unknown what became of the last one. */
    forget: () => {
      if (!isUnknown) reset();
    },
  };
}

type Props = { error: unknown; isUnknown: boolean; what: string; list: { to: string; label: string } };

/** Why it was not done, or that nobody knows whether it was. */
export function SendFailure({ error, isUnknown, what, list }: Props) {
  if (error === null) return null;
  if (!isUnknown) return <Failure error={error} />;
  return (
    <Alert color="yellow" title={`It is not known whether ${what}`} role="alert">
      <Text size="sm">
        The answer was lost. Press the button again: it sends the same request, which is never carried out
        twice.{' '}
        <PageLink to={list.to} underline="always">
          {list.label}
        </PageLink>{' '}
        shows what there is.
      </Text>
    </Alert>
  );
}
