-- Why it was ended, so that whoever used it can be told: logged_out, elsewhere, password_changed.
alter table login_sessions add column end_reason text;
