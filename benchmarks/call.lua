-- wrk: one call again and again, from the environment. Prints what the benchmark reads.
wrk.method = os.getenv("METHOD")
wrk.body = os.getenv("BODY")
wrk.headers["Authorization"] = os.getenv("AUTHORIZATION")
wrk.headers["Content-Type"] = "application/json"

-- Each call has text of its own where the body has {fresh}: that of the run, and a number. wrk has one thread here, so
-- that all connections share the counter.
if string.find(wrk.body, "{fresh}", 1, true) then
  local template, fresh, number = wrk.body, os.getenv("FRESH"), 0
  request = function()
    number = number + 1
    return wrk.format(nil, nil, nil, (string.gsub(template, "{fresh}", fresh .. number)))
  end
end

done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format('{"calls": %d, "seconds": %f, "errors": '
    .. '{"connect": %d, "read": %d, "write": %d, "status": %d, "timeout": %d}}\n',
    summary.requests, summary.duration / 1e6,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
