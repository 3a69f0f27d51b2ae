import { eventually } from './program.ts';

/** Calls a method of Zabbix's JSON-RPC API as administrator. Throws its error. */
export type ZabbixApi = <T>(method: string, params: object) => Promise<T>;

/** Waits for the frontend and logs in with the default password. */
export async function zabbixApi(url: string): Promise<ZabbixApi> {
  const call = async <T>(method: string, params: object, auth?: string): Promise<T> => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json-rpc' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params, ...(auth ? { auth } : {}) }),
    });
    const text = await answer.text();
    if (!text.startsWith('{'))
      throw new Error(`Zabbix's ${method} gave ${answer.status}: ${text.slice(0, 300)}`);
    const { result, error } = JSON.parse(text) as { result: T; error?: { data: string } };
    if (error) throw new Error(`Zabbix's ${method} says: ${error.data}`);
    return result;
  };
  const there = await eventually(() => call('apiinfo.version', {}).catch(() => undefined), 20);
  if (!there) throw new Error('The frontend of Zabbix did not answer within 20 s.');
  const token = await call<string>('user.login', { username: 'Admin', password: 'zabbix' });
  return (method, params) => call(method, params, token);
}
