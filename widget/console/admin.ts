// Keys and namespaces over the administration API of the server, which says who may see and change them.

import { plain, secrets, send } from "./api";

export interface Key {
  id: string;
  name: string;
  role: string;
  namespace: number;
  made: string;
  expires: string | null;
  revoked: string | null;
}

export interface Administered {
  keys: Key[];
  /** None for somebody who administers one namespace only. */
  namespaces: number[];
}

const KEY = "id name role namespace made expires revoked";

/** Sends a request in GraphQL. Throws the message of what is wrong. */
async function administer(text: string, variables: Record<string, unknown> = {}): Promise<any> {
  // Who has named themselves is told what they may not do; others can log in.
  const isQuiet = secrets.key !== "" || secrets.token !== "";
  const { body, status } = await send("admin", "application/json", JSON.stringify({ query: text, variables }), undefined, isQuiet);
  const fault = body?.errors?.[0]?.message;
  if (fault || !body?.data) {
    throw new Error(fault ? plain(fault) : `the server answers with status ${status}`);
  }
  return body.data;
}

export async function readAll(): Promise<Administered> {
  const data = await administer(`{ queryKeys { ${KEY} } state { namespaces } }`);
  const keys: Key[] = data.queryKeys ?? [];
  keys.sort((one, two) => one.made.localeCompare(two.made) || one.name.localeCompare(two.name));
  return { keys, namespaces: data.state?.namespaces ?? [] };
}

/** Makes a key. Its secret is in this answer and in no other one. */
export async function createKey(input: { name: string; role: string; expiresIn?: string; namespace?: number }): Promise<{ key: Key; secret: string }> {
  const data = await administer(`mutation make($input: CreateKeyInput!) { createKey(input: $input) { secret key { ${KEY} } } }`, { input });
  return data.createKey;
}

export async function revokeKey(id: string): Promise<void> {
  await administer("mutation revoke($id: String!) { revokeKey(id: $id) { message } }", { id });
}

/** Makes a namespace, and returns its number. */
export async function addNamespace(password: string): Promise<number> {
  const input = password ? { password } : {};
  const data = await administer("mutation add($input: AddNamespaceInput) { addNamespace(input: $input) { namespaceId } }", { input });
  return data.addNamespace.namespaceId;
}

export async function deleteNamespace(namespaceId: number): Promise<void> {
  await administer("mutation remove($input: DeleteNamespaceInput!) { deleteNamespace(input: $input) { namespaceId } }", { input: { namespaceId } });
}

/** Whether a key is of use now. */
export const isValid = (key: Key) => !key.revoked && (!key.expires || new Date(key.expires) > new Date());
