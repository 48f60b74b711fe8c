"""client.py [message]: one session of tinman serve, one message, and the streamed answer."""
import asyncio, itertools, json, os, sys, time
import websockets

tools = {"clock": lambda arguments: time.ctime()}
address = os.environ.get("TINMAN_URL", "ws://127.0.0.1:8000/ws")
token = os.environ.get("TINMAN_TOKEN")
option = "additional_headers" if int(websockets.__version__.split(".")[0]) >= 14 else "extra_headers"

async def talk(message, failed=0, ids=itertools.count(1)):
    async with websockets.connect(address, **{option: {"Authorization": f"Bearer {token}"} if token else {}}) as socket:
        async def send(method, **params):
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": next(ids), "method": method, "params": params}))
        await send("startSession", userId="example", sessionParams={"tools": [{"name": name} for name in tools]})
        async for text in socket:
            frame = json.loads(text)
            method, params, result = frame.get("method"), frame.get("params", {}), frame.get("result")
            if "error" in frame: return frame["error"]["message"]
            if result and "sessionId" in result: await send("sendUserMessage", sessionId=result["sessionId"], message=message)
            if method == "SessionStatusNotification" and params["status"] == 2: return failed
            if method == "SessionStatusNotification" and params["status"] == 3: failed = params.get("reason")
            if method == "ToolCallNotification":
                answer = tools.get(params["toolName"], lambda arguments: "There is no such tool here.")(params["arguments"])
                await send("provideToolResult", sessionId=params["sessionId"], toolCallId=params["toolCallId"], result=answer)
            if method == "AIMessageChunkNotification": print(params["chunk"], end="\n" if params["isFinal"] else "", flush=True)
            if params.get("isFinal"): await send("stopSession", sessionId=params["sessionId"])

try: sys.exit(asyncio.run(talk(sys.argv[1] if len(sys.argv) > 1 else "Hello")))
except (OSError, websockets.WebSocketException) as error: sys.exit(str(error))
