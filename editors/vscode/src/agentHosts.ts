// The list of agent hosts in the user's settings, which VS Code's Agents window connects to.
export interface AgentHost { name?: string; address?: string; connectionToken?: string }

/** The list with our host, or without one. Hosts of other windows of ours stay while they live; those of others always. */
export function withHost(list: readonly AgentHost[] | undefined, own: AgentHost | undefined, token: string, lives: (address: string) => boolean): AgentHost[] {
  const others = (list ?? []).filter((h) => h.connectionToken !== token || (h.address !== undefined && h.address !== own?.address && lives(h.address)));
  return own ? [...others, own] : others;
}
