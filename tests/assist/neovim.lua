-- One editing session in Neovim with its own client for language servers, as a person has it. What the editor shows
-- after each step is written as JSON into $SESSION_ANSWERS. The first file is open; $SESSION_SERVER starts the server.
local shown = {}
local HANGS = 60000 -- milliseconds after which a step gives up: nothing is judged by them

local function until_it(what, is_so)
  if not vim.wait(HANGS, is_so, 20) then
    error(what .. " did not come: " .. vim.inspect(shown))
  end
end

local function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end

local function find(text, behind)
  for at, line in ipairs(lines()) do
    local first, last = line:find(text, 1, true)
    if first then
      vim.api.nvim_win_set_cursor(0, { at, (behind and last or first) - 1 })
      return at, line
    end
  end
  error(text .. " is not in the file")
end

local function replace(old, new)
  local at, line = find(old)
  local first, last = line:find(old, 1, true)
  vim.api.nvim_buf_set_lines(0, at - 1, at, true, { line:sub(1, first - 1) .. new .. line:sub(last + 1) })
  find(new)
end

local function messages()
  return vim.tbl_map(function(one) return one.lnum + 1 .. ": " .. one.message end, vim.diagnostic.get(0))
end

local function texts(list)
  return vim.tbl_map(function(one) return one.lnum .. ": " .. vim.trim(one.text) end, list)
end

local function floating()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), window
    end
  end
end

local function session()
  vim.bo.filetype = "toml"
  local buffer = vim.api.nvim_get_current_buf()
  local start = vim.lsp.start or vim.lsp.start_client -- before 0.8
  local client = start({
    name = "fleetc", cmd = vim.fn.json_decode(vim.env.SESSION_SERVER), root_dir = vim.fn.getcwd(),
  })
  vim.lsp.buf_attach_client(buffer, client)
  until_it("the server", function() return vim.lsp.buf_get_clients(buffer)[client] ~= nil end)

  -- A mistake, what it says, and its repair.
  replace('memory = "24 GiB"', 'memory = "24GiB"')
  until_it("a diagnostic", function() return #vim.diagnostic.get(0) > 0 end)
  shown.mistake = messages()
  local asked = vim.lsp.util.make_range_params()
  asked.context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics() }
  local actions = vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", asked, HANGS)[client].result
  shown.repairs = vim.tbl_map(function(one) return one.title end, actions)
  vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
  shown.repaired = vim.api.nvim_get_current_line()
  until_it("the end of the diagnostic", function() return #vim.diagnostic.get(0) == 0 end)

  -- What a price means, and who buys at it.
  find('price = "1200 wei / pixel"')
  vim.lsp.buf.hover()
  until_it("the hover", function() return floating() ~= nil end)
  local text, window = floating()
  shown.hover = text
  vim.api.nvim_win_close(window, true)

  -- Where a host stands, and who names it.
  find('host = "eu-gpu-1"', true)
  vim.lsp.buf.definition()
  until_it("the definition", function() return vim.api.nvim_get_current_line() == "[hosts.eu-gpu-1]" end)
  shown.definition = vim.api.nvim_get_current_line()
  find("[hosts.eu-gpu-1]", true)
  vim.cmd("normal! h")
  vim.lsp.buf.references()
  until_it("the references", function() return #vim.fn.getqflist() > 0 end)
  shown.references = texts(vim.fn.getqflist())
  vim.cmd("cclose")

  -- Another name, in each place.
  find("[hosts.eu-gpu-1]", true)
  vim.cmd("normal! h")
  vim.lsp.buf.rename("eu-render")
  until_it("the new name", function() return table.concat(lines(), "\n"):find("[hosts.eu-render]", 1, true) end)
  shown.renamed = vim.tbl_filter(function(line) return line:find("eu%-render") end, lines())

  -- What may be written, at the end of a line that has begun.
  local at = find('host = "eu-render"')
  vim.api.nvim_buf_set_lines(0, at, at, true, { "pricePer" })
  vim.api.nvim_win_set_cursor(0, { at + 1, #"pricePer" })
  local place = vim.lsp.util.make_position_params()
  place.position.character = #"pricePer"
  local list = vim.lsp.buf_request_sync(buffer, "textDocument/completion", place, HANGS)[client].result
  local fitting = vim.tbl_filter(function(one) return (one.filterText or one.label):find("^pricePer") end, list.items)
  shown.completion = vim.tbl_map(function(one) return one.filterText .. ": " .. one.label end, fitting)
  vim.api.nvim_buf_set_lines(0, at, at + 1, true, {})

  -- How many lines a table decides about, once the spec is checked again.
  until_it("the lenses", function()
    vim.lsp.codelens.refresh()
    vim.wait(200)
    shown.lenses = {}
    for _, one in ipairs(vim.lsp.codelens.get(buffer)) do
      if not one.command or one.command.title:find("not known yet") then return false end
      table.insert(shown.lenses, lines()[one.range.start.line + 1] .. ": " .. one.command.title)
    end
    return #shown.lenses > 0
  end)

  -- The outline, and one form of the text.
  vim.lsp.buf.document_symbol()
  until_it("the outline", function()
    return vim.fn.getqflist({ title = true }).title:find("ymbols") or #vim.fn.getloclist(0) > 0
  end)
  shown.outline = texts(#vim.fn.getloclist(0) > 0 and vim.fn.getloclist(0) or vim.fn.getqflist())
  vim.cmd("cclose | lclose")
  replace('host = "eu-render"', 'host   =    "eu-render"')
  if vim.lsp.buf.format then
    vim.lsp.buf.format({ timeout_ms = HANGS })
  else
    vim.lsp.buf.formatting_sync(nil, HANGS)
  end
  shown.formatted = vim.api.nvim_get_current_line()
  vim.cmd("silent wall")
end

local fine, problem = pcall(session)
if not fine then shown.problem = tostring(problem) end
vim.fn.writefile({ vim.fn.json_encode(shown) }, vim.env.SESSION_ANSWERS)
vim.lsp.stop_client(vim.lsp.get_active_clients())
vim.wait(HANGS, function() return #vim.lsp.get_active_clients() == 0 end, 20)
vim.cmd("qall!")
