import { fromContainers } from '@quittance/stack/engine-source';

/**
 * Before all end-to-end suites: they start whatever they need by themselves, but with TEST_ENGINES=containers the images
 * have to be there, and to build them takes longer than a suite may.
 */
export default async function setUp(): Promise<void> {
  if (!fromContainers()) return;
  const { buildStackImages } = await import('@quittance/stack/container-parts');
  await buildStackImages((line) => process.stdout.write(`${line}\n`));
}
