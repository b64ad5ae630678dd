import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ME } from '../queries.ts';

/** All windows of a browser have one session: what one of them changes, the others ask about at once. */
const channel = new BroadcastChannel('quittance-session');

export const tellOtherWindows = (): void => channel.postMessage('changed');

export function useOtherWindows(): void {
  const client = useQueryClient();
  useEffect(() => {
    const ask = () => void client.invalidateQueries({ queryKey: ME });
    channel.addEventListener('message', ask);
    return () => channel.removeEventListener('message', ask);
  }, [client]);
}
