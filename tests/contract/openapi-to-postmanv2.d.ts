// The published types (@types/openapi-to-postmanv2) know only the older `convert`.
declare module "openapi-to-postmanv2" {
  type Result = { result: boolean; reason?: string; output?: { data: object }[] };
  type Callback = (error: Error | null, result?: Result) => void;
  const converter: { convertV2(input: { type: "json"; data: object }, options: object, callback: Callback): void };
  export default converter;
}
