"""The stages in which `headway.text.prepare` prepares text, range by range."""
