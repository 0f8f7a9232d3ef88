// A tool that has others work for it and says what that cost, in each way that pi
// knows: as the result's own usage, as the list that pi's example of a subagent tool
// keeps in its details, and in both.
import { Type } from "@earendil-works/pi-ai";
import { defineTool, type ExtensionAPI } from "@earendil-works/pi-coding-agent";

const own = (usd: number) => ({
	input: 1000, output: 100, cacheRead: 10, cacheWrite: 1, totalTokens: 1111,
	cost: { input: usd, output: 0, cacheRead: 0, cacheWrite: 0, total: usd },
});
const listed = (usd: number) => ({ usage: { input: 1000, output: 100, cacheRead: 10, cacheWrite: 1, cost: usd, contextTokens: 1111, turns: 1 } });

const delegate = defineTool({
	name: "delegate",
	label: "Delegate",
	description: "Has others work",
	parameters: Type.Object({ how: Type.String(), usd: Type.Number() }),

	async execute(_id, { how, usd }) {
		const content = [{ type: "text" as const, text: `spent ${usd} dollars` }];
		if (how === "listed") return { content, details: { results: [listed(usd / 2), listed(usd / 2)] } };
		if (how === "both") return { content, details: { results: [listed(usd)] }, usage: own(usd) };
		return { content, details: {}, usage: own(usd) };
	},
});

export default (pi: ExtensionAPI) => pi.registerTool(delegate);
