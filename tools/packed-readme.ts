import { posix } from 'node:path';

/** A link of a markdown document, and the text between its brackets, which may be a picture or have code in it. */
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g;

/** What a relative link of the document `from` leads to, as a path in the repository, and its anchor with `#`. */
function resolved(from: string, target: string): { file: string; anchor: string } {
  const [path = '', anchor] = target.split('#');
  const file = posix.normalize(posix.join(posix.dirname(from), path)).replace(/\/$/, '');
  return { file, anchor: anchor === undefined ? '' : `#${anchor}` };
}

/**
 * A document of the repository as the README.md of a tarball. A link to a file that the tarball does not have becomes the words
 * that say where it is: the path of its page in a running Quittance, or its path in the repository.
 */
export function packedReadme(from: string, markdown: string, isPacked: (file: string) => boolean): string {
  return markdown.replaceAll(LINK, (whole, picture: string, text: string, target: string) => {
    if (/^(?:[a-z]+:|#)/.test(target)) return whole;
    const { file, anchor } = resolved(from, target);
    if (isPacked(file)) return `${picture}[${text}](${file}${anchor})`;
    const [, page] = /^(docs\/.+)\.md$/.exec(file) ?? [];
    const place =
      page === undefined ? `\`${file}\` in the repository` : `\`/${page}${anchor}\` of your Quittance`;
    return `${text} (${place})`;
  });
}

/** The relative links of a README that lead to no file of its tarball. */
export const deadLinks = (markdown: string, isPacked: (file: string) => boolean): string[] =>
  [...markdown.matchAll(LINK)]
    .map(([, , , target = '']) => target)
    .filter((target) => !/^(?:[a-z]+:|#)/.test(target) && !isPacked(resolved('README.md', target).file));
