// Zero-width space: it is shown as nothing, and a name behind it is no mention.
const NOTHING = '\u200b';

/** What every Markdown lets escape: a backslash before another mark would be shown. */
const MARKS = /[\\`*_{}[\]()#+\-.!|>~]/g;

/**
 * A text of strangers in Markdown, without effect: no link, image, heading, code or mention. Mentions are torn, because
 * Mattermost looks for them after it has resolved escapes.
 */
export function escapeMarkdown(text: string): string {
  return tear(text).replace(MARKS, String.raw`\$&`);
}

/** Puts something invisible into mentions, addresses and tags, where a text is shown as it is. */
export function tear(text: string): string {
  return text.replace(/[@<]|:(?=\/\/)/g, `$&${NOTHING}`);
}

/** A fenced block of code. What looks like its end is torn. */
export function codeBlock(code: string): string {
  return `\`\`\`\n${tearFences(code)}\n\`\`\``;
}

/** Tears runs of three backticks and more, which would end or begin a block of code. */
export function tearFences(text: string): string {
  return text.replace(/`{3,}/g, (run) => [...run].join(NOTHING));
}
