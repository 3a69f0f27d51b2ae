import type { MailMessage } from '../../sending/outgoing.ts';
import type { MessageContext } from '../channel.ts';
import { cutText, plainLine } from '../plain-text.ts';
import { linkTo } from '../report/report.ts';
import { automatic } from './email-format.ts';
import { anchor, escapeHtml, page } from './html-part.ts';

/** Who is asked, with the token of the link; and for which destination. */
interface Asked {
  email: string;
  token: string;
  destination: string;
}

/**
 * The message that asks a recipient to confirm. It is the only one that an unconfirmed address gets, so it names
 * the account, and says that nothing more is sent.
 */
export function confirmationMail({ email, token, destination }: Asked, context: MessageContext): MailMessage {
  const url = linkTo(context.consoleUrl, `/email/${encodeURIComponent(token)}`);
  const [account, name] = [context.account, destination].map(named);
  const asks = `The account “${account}” of dbvitals wants to send alerts of its databases to ${plainLine(email)} (“${name}”).`;
  const ignore =
    'If you did not expect this, do nothing: without your confirmation no other message is sent.';
  return {
    to: email,
    subject: 'Confirm that you want alerts from dbvitals',
    text: `${asks}\n\nConfirm: ${url}\n\n${ignore}\n`,
    html: page(
      'Confirm notifications',
      `<p>${escapeHtml(asks)}</p>\n<p>${anchor(url, 'Confirm')}</p>\n<p>${escapeHtml(ignore)}</p>`,
    ),
    headers: automatic,
  };
}

/**
 * A name that a stranger chose, in a message to anybody: it is short, and mail programs see no link or address in it. Without
 * that, a name would be a way to send advertising.
 */
function named(name: string): string {
  const line = plainLine(name)
    .replace(/:\/\//g, ': //')
    .replace(/[.@](?=\S)/g, '$& ');
  return cutText(line, 80);
}
