def log(logger, secret):
    logger.active and logger("a %s" % (secret, secret and secret.text()))


def three(logger, secret):
    logger.first or logger.second() or logger(secret if secret else 1)
