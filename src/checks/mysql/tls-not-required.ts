import type { Figures } from './figures.ts';
import { setForGood, settingCheck } from './setting-check.ts';

const NAME = 'require_secure_transport';

/** Clients may connect over the network without encryption. */
export const tlsNotRequired = settingCheck({
  id: 'MY_TLS_NOT_REQUIRED',
  title: 'TLS is not required',
  category: 'security',
  severity: 'info',
  reads: { variables: [NAME, 'skip_networking', 'bind_address', 'have_ssl'] },
  wrong: (settings, server) => {
    if (settings.on(NAME) || staysOnTheMachine(settings)) return undefined;
    // MySQL from 8.4 on does not have this variable.
    const off = settings.has('have_ssl') && settings.text('have_ssl').toUpperCase() !== 'YES';
    return {
      metricLine: `${NAME} is off${off ? ', and TLS with it' : ''}: connections without TLS are not encrypted; require it.`,
      remediation: `${setForGood(server, NAME, 'ON')}${off && !server.provider ? ' -- once ssl_cert and ssl_key are set there' : ''}`,
    };
  },
  passMessage: (settings) =>
    settings.on(NAME) ? `${NAME} is on.` : 'The server accepts connections from its own machine only.',
});

function staysOnTheMachine(settings: Figures): boolean {
  if (settings.on('skip_networking')) return true;
  const addresses = settings.text('bind_address').split(',');
  return addresses.every((address) => /^(127\.[\d.]+|::1|localhost)$/i.test(address.trim()));
}
