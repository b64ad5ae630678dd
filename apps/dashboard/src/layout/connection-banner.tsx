import { Alert } from '@mantine/core';
import { useNetwork } from '@mantine/hooks';
import { ConnectionError } from '@quittance/client';
import { IconWifiOff } from '@tabler/icons-react';
import { useEffect } from 'react';
import { queries } from '../queries.ts';
import { useSignedIn } from '../session/session.ts';

/** Says that what is shown may be old, and reads it again as soon as the server answers. */
export function ConnectionBanner() {
  const { online } = useNetwork();
  const { error } = useSignedIn();
  const isAway = !online || error instanceof ConnectionError;
  useEffect(() => {
    if (!isAway) void queries.invalidateQueries();
  }, [isAway]);
  if (!isAway) return null;
  return (
    <Alert color="yellow" icon={<IconWifiOff />} mb="md" role="status" title="No connection">
      What you see is as it was. Nothing you do now is sent later: try again when the connection is back.
    </Alert>
  );
}
