import { useEffect } from 'react';
import { readAgain } from '../queries.ts';

/** All windows of a browser have one session: what one of them changes, the others ask about at once. */
const channel = new BroadcastChannel('quittance-session');

export const tellOtherWindows = (): void => channel.postMessage('changed');

export function useOtherWindows(): void {
  useEffect(() => {
    const ask = () => void readAgain('me');
    channel.addEventListener('message', ask);
    return () => channel.removeEventListener('message', ask);
  }, []);
}
