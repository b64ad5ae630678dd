import { Anchor, Text } from '@mantine/core';
import { Page, PageLink } from '../parts/page.tsx';

export const NoPage = () => (
  <Page title="There is no such page">
    <Text>
      The address may be cut off. <PageLink to="/">Go home</PageLink>
    </Text>
  </Page>
);

/** A defect of the dashboard, or a part of it that could not be loaded, as after an update of the server. */
export function BrokenPage({ error }: { error: unknown }) {
  const isOld =
    error instanceof TypeError && /dynamically imported module|Importing a module/.test(error.message);
  return (
    <Page title={isOld ? 'This page could not be loaded' : 'This page is broken'}>
      {isOld || !(error instanceof Error) ? (
        <Text>
          The server may have been updated, or cannot be reached.{' '}
          <Anchor component="button" onClick={() => window.location.reload()}>
            Load it again
          </Anchor>
        </Text>
      ) : (
        <Text>
          {error.name}: {error.message}. If you have just sent something, look whether it was done before you
          send it again. Please tell the operator.
        </Text>
      )}
    </Page>
  );
}
